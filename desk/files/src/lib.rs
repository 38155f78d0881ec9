//! A folder of text files, reached through a handle that nothing leads out of.
