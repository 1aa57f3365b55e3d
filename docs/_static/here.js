// Scroll the list of pages, which is long, to the page that is read.
document.addEventListener("DOMContentLoaded", () => {
  const list = document.querySelector(".sidebar-scroll"), here = document.querySelector(".sidebar-tree .current-page");
  if (list && here) list.scrollTop += here.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
});
// On a phone a wide picture keeps a size at which its words can be read, and scrolls.
window.addEventListener("load", () => {
  if (!matchMedia("(max-width: 46em)").matches) return;
  for (const picture of document.querySelectorAll(".content img")) {
    const width = picture.naturalWidth / 2;
    if (width <= picture.parentElement.clientWidth) continue;
    picture.style.cssText += `max-width: none; width: ${width}px`;
    Object.assign(picture.parentElement, { tabIndex: 0 }).style.overflowX = "auto";
  }
});
