// board.js - filters entries by track and property, and shows the curves of those that are open or pointed at.
"use strict";

const curveOf = entry => document.querySelector(`.curve[data-entry="${entry.id}"]`);
const filters = document.querySelector(".filters");

function filterEntries() {
    const { track, ...wanted } = Object.fromEntries(new FormData(filters));
    const entries = [...document.querySelectorAll(".board > tbody")];
    entries.forEach(entry => {
        const section = entry.closest("section");
        section.hidden = track !== "" && section.dataset.track !== track;
        entry.hidden = Object.keys(wanted).some(key => wanted[key] !== "" && entry.dataset[key] !== wanted[key]);
        curveOf(entry)?.classList.toggle("off", entry.hidden);
    });
    const shown = entries.filter(entry => !entry.hidden && !entry.closest("section").hidden).length;
    filters.querySelector("output").textContent = `${shown} of ${entries.length} entries`;
}

const pick = (entry, on) => curveOf(entry)?.classList.toggle("picked", on || entry.querySelector("details").open);

document.querySelectorAll(".board > tbody").forEach(entry => {
    entry.addEventListener("pointerenter", () => pick(entry, true));
    entry.addEventListener("pointerleave", () => pick(entry, false));
    entry.querySelector("details").addEventListener("toggle", () => pick(entry, false));
});
filters.hidden = false;
filters.addEventListener("change", filterEntries);
filterEntries();
