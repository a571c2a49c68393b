"""The page of a bare Streamlit app."""

import streamlit as st

st.title("Bare")
