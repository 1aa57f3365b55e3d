// Scroll the list of pages, which is long, to the page that is read.
document.addEventListener("DOMContentLoaded", () => {
  const list = document.querySelector(".sidebar-scroll"), here = document.querySelector(".sidebar-tree .current-page");
  if (list && here) list.scrollTop += here.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
});
const hint = () => Object.assign(document.createElement("small"), { className: "sideways", textContent: "Swipe sideways to see all." });

// On a phone options do not break, in commands neither, names in tables break behind dots, underscores and brackets, and a wide picture keeps a size at which its words can be read, and scrolls.
window.addEventListener("load", () => {
  if (!matchMedia("(max-width: 46em)").matches) return;
  for (const picture of document.querySelectorAll(".content img")) {
    const width = picture.naturalWidth / 2;
    if (width <= picture.parentElement.clientWidth) continue;
    picture.style.cssText += `max-width: none; width: ${width}px`;
    Object.assign(picture.parentElement, { tabIndex: 0 }).style.overflowX = "auto";
    picture.parentElement.before(hint());
  }
  for (const atlas of document.querySelectorAll(".atlas")) atlas.before(hint());
  for (const code of document.querySelectorAll(".content :is(.highlight-console, .highlight-sh) pre"))
    code.innerHTML = code.innerHTML.replace(/(^|[\s>])(--?[a-z][\w-]*)/g, '$1<span style="white-space: nowrap">$2</span>');
  for (const name of document.querySelectorAll(".content code.literal .pre")) {
    if (name.textContent.startsWith("-")) name.style.whiteSpace = "nowrap";
    else if (name.closest("table")) name.innerHTML = name.innerHTML.replace(/(?<!&[a-z]*)([._(/]|, )(?=\w)/g, "$1<wbr>");
  }
});
