"use strict";
// Sorts the tables of a page. Without it they are plain tables.
function figureIn(text) {
  const found = text.replaceAll(",", "").match(/^(?:≥ |<)?(-?[\d.]+)/);
  return found ? Number(found[1]) : null;
}
function compareCells(a, b) {
  const [one, other] = [figureIn(a), figureIn(b)];
  if (one === null && other === null) return a.localeCompare(b);
  return one === null ? -1 : other === null ? 1 : one - other;
}
function sortBy(table, heading, column) {
  const falling = heading.getAttribute("aria-sort") !== "descending";
  for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
  const rows = [...table.tBodies[0].rows];
  rows.sort((a, b) => compareCells(a.cells[column].textContent, b.cells[column].textContent));
  table.tBodies[0].append(...(falling ? rows.reverse() : rows));
}
for (const table of document.querySelectorAll("table.sortable")) {
  [...table.tHead.rows[0].cells].forEach((heading, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    button.addEventListener("click", () => sortBy(table, heading, column));
    heading.append(button);
  });
}
