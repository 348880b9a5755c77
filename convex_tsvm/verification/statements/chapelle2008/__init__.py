"""Chapelle, Sindhwani and Keerthi (2008), Optimization Techniques for Semi-Supervised Support Vector Machines."""
