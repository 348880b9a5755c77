"""The relaxation in the label matrix Γ, which stands for y yᵀ (debie2004 §2)."""
