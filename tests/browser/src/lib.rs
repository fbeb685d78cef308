//! Opens generated reports in a real browser.
