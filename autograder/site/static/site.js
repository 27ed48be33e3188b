// What every page can do with a script: see also theme.js. Without scripts, every page can be read.
