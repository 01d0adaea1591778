// Before anything is painted: with a script the page of a table is laid out as an app, without one as a document.
document.documentElement.classList.add("app");
