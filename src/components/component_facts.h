/* SPDX-License-Identifier: GPL-3.0-or-later */
/* component_facts.h - calls to functions of components that only tell, such as traits or costs under some options. A
 * plug-in's is called in a child process, whatever else it does there, and its answer is kept: the same question is
 * asked once. */
#ifndef NB_COMPONENT_FACTS_H
#define NB_COMPONENT_FACTS_H

#include "components/component.h"

/* Asks a component's function: reads `question` and sets `answer`. */
typedef void nb_tell_fact(const nb_choice *of, const void *question, void *answer);

/* Sets the `answer_bytes` bytes of `answer`, in which there are no pointers, by tell(of, question, answer). Questions
 * are the same if their `question_bytes` bytes are (without padding). A plug-in's function that does not return is
 * warned of once, and leaves `answer` as it is: false. Call it while this process has one thread, as a fork; answers
 * that are kept are there in children. */
bool nb_ask_fact(const nb_choice *of, const char *function, nb_tell_fact *tell, const void *question,
                 size_t question_bytes, void *answer, size_t answer_bytes);

#endif
