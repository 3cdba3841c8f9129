"use strict";
const drawings = JSON.parse(document.getElementById("drawings").textContent);
const told = document.getElementById("told");
const nav = document.querySelector(".figures nav");
const choice = document.getElementById("variant");
const series = document.querySelector(".series");
const hiddenSeries = new Set();

function tell(event, text) {
  told.textContent = text;
  told.hidden = false;
  const x = Math.min(event.clientX + 14, window.innerWidth - told.offsetWidth - 8);
  told.style.left = Math.max(4, x) + "px";
  told.style.top = Math.min(event.clientY + 14, window.innerHeight - told.offsetHeight - 8) + "px";
}

// Every point of a drawing knows what it says and to which series it belongs.
for (const drawing of drawings) {
  drawing.points.forEach(([text, name], number) => {
    const shape = document.getElementById(drawing.name + "-" + number);
    if (!shape) return;
    shape.dataset.series = name;
    if (!text) return;
    shape.classList.add("point");
    shape.addEventListener("pointermove", (event) => tell(event, text));
    shape.addEventListener("pointerleave", () => { told.hidden = true; });
    shape.addEventListener("click", (event) => tell(event, text));
  });
}

function showSeries(drawing) {
  const figure = document.getElementById("figure-" + drawing.name);
  for (const shape of figure.querySelectorAll("[data-series]")) {
    shape.style.display = hiddenSeries.has(shape.dataset.series) ? "none" : "";
  }
}

function show(drawing) {
  for (const figure of document.querySelectorAll(".figures figure")) {
    figure.hidden = figure.id !== "figure-" + drawing.name;
  }
  hiddenSeries.clear();
  showSeries(drawing);
  series.replaceChildren();
  for (const name of [...new Set(drawing.points.map((point) => point[1]))]) {
    const button = document.createElement("button");
    button.textContent = name || "all";
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      const hides = !hiddenSeries.delete(name);
      if (hides) hiddenSeries.add(name);
      button.setAttribute("aria-pressed", String(!hides));
      showSeries(drawing);
    });
    series.append(button);
  }
}

function chooseFigure(id) {
  for (const button of nav.children) {
    button.setAttribute("aria-pressed", String(button.dataset.figure === id));
  }
  const mine = drawings.filter((drawing) => drawing.figure === id);
  choice.replaceChildren();
  for (const drawing of mine) {
    const option = document.createElement("option");
    option.value = drawing.name;
    option.textContent = drawing.variant || "all results";
    choice.append(option);
  }
  choice.parentElement.hidden = mine.length < 2;
  show(mine[0]);
}

const known = new Set();
for (const drawing of drawings) {
  if (known.has(drawing.figure)) continue;
  known.add(drawing.figure);
  const button = document.createElement("button");
  button.textContent = drawing.title;
  button.dataset.figure = drawing.figure;
  button.addEventListener("click", () => chooseFigure(drawing.figure));
  nav.append(button);
}
choice.addEventListener("change", () => {
  show(drawings.find((drawing) => drawing.name === choice.value));
});
if (drawings.length > 0) chooseFigure(drawings[0].figure);
