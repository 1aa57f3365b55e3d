// Scroll the list of pages, which is long, to the page that is read.
document.addEventListener("DOMContentLoaded", () => {
  const list = document.querySelector(".sidebar-scroll"), here = document.querySelector(".sidebar-tree .current-page");
  if (list && here) list.scrollTop += here.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
});
