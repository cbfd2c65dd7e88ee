/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_text_private.h - the tables of a page as text, for write_text*.c alone. */
#ifndef NB_WRITE_TEXT_PRIVATE_H
#define NB_WRITE_TEXT_PRIVATE_H

#include "show/page_record.h"

nb_status nb_text_write_table(nb_page_walk *walk);

#endif
