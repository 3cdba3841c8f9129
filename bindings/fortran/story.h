/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef IOCOMP_FORTRAN_STORY_H
#define IOCOMP_FORTRAN_STORY_H

/** Keep the story of a mistake that is found here, in the way of printf.
 * @return IOCOMP_INVALID_ARGUMENT */
int refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The end of each call: give the code to the program; where it did not ask for one, print the
 * story of a failure and end the job. @param ierr  may be NULL */
void finish(int code, int *ierr);

/** The story of the last failure, found here or by the library. */
const char *story(void);

#endif
