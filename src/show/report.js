// report.js - tables that sort and filter. Without it, all is there to read.
"use strict";

// The first number of a cell: of "0.79 [0.77, 0.81]", "(8.22)" and "7.3e-13~" too; NaN: it has none.
const numberOf = text => {
    const found = text.match(/[+-]?(infinite|(\d+\.?\d*|\.\d+)(e[+-]?\d+)?)/i);
    return found ? Number(found[0].replace("infinite", "Infinity")) : NaN;
};

// Cells without a number stand last, in either order. Sorting is stable.
const compareNumbers = (a, b, sign) =>
    Number.isNaN(a) || Number.isNaN(b) ? Number.isNaN(a) - Number.isNaN(b) : sign * (a < b ? -1 : a > b ? 1 : 0);

function sortRows(table, column, sign) {
    const several = table.tBodies.length > 1; // each a row, with what belongs to it
    const head = table.tHead.rows[0].cells[column];
    const parts = several ? [...table.tBodies] : [...table.tBodies[0].rows];
    const cellOf = part => (several ? part.rows[0] : part).cells[column];
    const cells = parts.map(part => ({ part, text: (cellOf(part)?.textContent ?? "").trim() }));
    if (head.classList.contains("number")) {
        cells.forEach(cell => { cell.number = numberOf(cell.text); });
        cells.sort((a, b) => compareNumbers(a.number, b.number, sign));
    } else {
        const collator = new Intl.Collator("en", { numeric: true });
        cells.sort((a, b) => sign * collator.compare(a.text, b.text));
    }
    (several ? table : table.tBodies[0]).append(...cells.map(cell => cell.part));
}

// No <button>, but where a page asks for it: Chromium does not repeat a head with one on the next page of a print.
function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
        if (!head.textContent.trim()) return;
        const real = table.classList.contains("buttons");
        const button = document.createElement(real ? "button" : "span");
        if (real) button.type = "button";
        else button.setAttribute("role", "button");
        button.tabIndex = 0;
        button.title = "Sort by this column";
        button.append(...head.childNodes);
        head.append(button);
        const sort = () => {
            const first = head.dataset.first ?? "ascending";
            const turned = first === "ascending" ? "descending" : "ascending";
            const order = head.getAttribute("aria-sort") === first ? turned : first;
            heads.forEach(other => other.removeAttribute("aria-sort"));
            head.setAttribute("aria-sort", order);
            sortRows(table, column, order === "ascending" ? 1 : -1);
        };
        button.addEventListener("click", sort);
        button.addEventListener("keydown", event => {
            if (real || event.key !== "Enter" && event.key !== " ") return;
            event.preventDefault();
            sort();
        });
    });
}

// All words have to be in a row.
function makeFilter(table, box) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    const count = document.createElement("output");
    label.className = "filter";
    input.type = "search";
    label.append("Filter rows: ", input, count);
    input.addEventListener("input", () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        const rows = [...table.tBodies[0].rows];
        rows.forEach(row => {
            const text = row.textContent.toLowerCase();
            row.hidden = !words.every(word => text.includes(word));
        });
        count.textContent = words.length ? `${rows.filter(row => !row.hidden).length} of ${rows.length}` : "";
    });
    box.before(label);
}

const LONG = 12; // rows

document.querySelectorAll(".table").forEach(box => {
    const table = box.querySelector("table");
    if (!table?.tHead || !table.tBodies.length) return;
    makeSortable(table);
    if (table.tBodies[0].rows.length > LONG) makeFilter(table, box);
});

// On paper nothing is folded.
let folded = [];
addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    folded.forEach(details => { details.open = true; });
});
addEventListener("afterprint", () => folded.forEach(details => { details.open = false; }));
