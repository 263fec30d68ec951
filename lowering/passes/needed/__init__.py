"""Producers that compute what somebody reads."""
