"""Operations on expressions: mathematics, conversions, bits, fixed point and interpolation."""
