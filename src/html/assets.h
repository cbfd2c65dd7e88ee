/* SPDX-License-Identifier: GPL-3.0-or-later */
/* assets.h - the files of this folder that are part of a page; the Makefile makes texts of them. */
#ifndef NB_ASSETS_H
#define NB_ASSETS_H

extern const char nb_asset_report_css[], nb_asset_report_js[];

#endif
