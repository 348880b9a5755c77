"""The relaxation with signs in the matrix: X stands for [1; v; b] [1; v; b]ᵀ, b the signs of the outputs v."""
