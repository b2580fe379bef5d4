/* chord.h: how a rigid body turns from one instant to another on a chord (docs/explanation/rigid.md).
 *
 * The axes of a body go along straight lines from where they are, A, to a rotation R1, which they reach after a time
 * tau. R1 is the rotation with skew(R1 S A^T) = tau L/2, where S has the principal moments and L is the angular
 * momentum; where A is a rotation this is the discrete rigid body of Moser and Veselov (1991). Only + - * / and sqrt
 * are used.
 *
 * A body's axes are kept as rows: a[k] is what its principal axis k has become.
 */
#ifndef TACTUS_STATE_CHORD_H
#define TACTUS_STATE_CHORD_H

/* Local. Computes the angular momentum sum of s[k] a[k] x b[k], where b are the rates of the axes a, kg m^2/s. */
void tac_chord_momentum(const double s[3], const double a[3][3], const double b[3][3], double l[3]);
/* Local. Computes the rotation that is nearest to the axes a. */
void tac_chord_nearest(const double a[3][3], double r[3][3]);
/* Local. Computes the angular velocity, rad/s, of a rigid body with axes r (a rotation) and angular momentum l. */
void tac_chord_spin(const double s[3], const double r[3][3], const double l[3], double w[3]);
/* Local. Computes the rates b of the axes a with which they become a rotation in the time tau [s], if the body has the
 * angular momentum l. r: the rotation that is nearest to a. Returns the number of iterations; over TAC_CHORD_MOST: they
 * did not converge. */
enum { TAC_CHORD_MOST = 8 };
int tac_chord_plan(const double s[3], const double a[3][3], const double r[3][3], const double l[3], double tau,
                   double b[3][3]);

#endif
