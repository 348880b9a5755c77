"""Proves what a certificate of exact search claims, from the file alone: nothing here is the rest of the package.

    python -m convex_tsvm.checker FILE           or           python checker FILE, for a copy of this folder

The file holds a problem, a search tree, and the numbers that prove a bound at each of its leaves; docs/certificate.rst
says what they are, which inequality each kind of proof rests on, and why it holds.  Here all claims are decided by
arithmetic that cannot err on the wrong side: what is done once (kernel values, centring, the inverse of a matrix) in
balls of 192 bits, by Arb through python-flint; what is done at every node in balls of double precision (:mod:`.balls`).
So "proven" is a theorem about the numbers in the file: no solution has an objective below the bound, and the one in the
file has an objective that is not above the value shown.
"""

from .balls import BITS, Ball, Refused
from .walk import Certificate, Node, Verdict, check, digest, walked

__all__ = ["BITS", "Ball", "Certificate", "Node", "Refused", "Verdict", "check", "digest", "walked"]
