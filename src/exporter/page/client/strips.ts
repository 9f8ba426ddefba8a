import { minuteOf } from "./times.ts";

const WORDS = new Map([
  ["impaired", "up, with something wrong"],
  ["planned", "planned work"],
  ["unknown", "not known"],
]);
const tip = document.createElement("output");
/** The bin that is shown. */
let bin = 0;

/**
 * Shows, beside the pointer and by the arrow keys, the time and the state of a part of a strip. A click and Enter call `visit` with the id of
 * the incident of that time, if there was one.
 */
export function readStrips(state: HTMLElement, visit: (incident: string) => void): void {
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  for (const event of ["pointermove", "pointerdown"] as const)
    document.addEventListener(event, ({ target, clientX }) => {
      const strip = stripOf(target);
      if (strip === undefined) return hide();
      const { left, width } = strip.getBoundingClientRect();
      show(strip, Math.floor(((clientX - left) / width) * strip.viewBox.baseVal.width), state.dataset);
    });
  document.addEventListener("focusin", ({ target }) => {
    const strip = stripOf(target);
    if (strip !== undefined) show(strip, Infinity, state.dataset);
  });
  document.addEventListener("keydown", ({ target, key }) => {
    const strip = stripOf(target);
    if (key === "Escape") hide();
    const incident = key === "Enter" && strip ? incidentAt(strip, state.dataset) : undefined;
    if (incident !== undefined) visit(incident);
    if (strip === undefined || (key !== "ArrowLeft" && key !== "ArrowRight")) return;
    const { from = bin, to = bin + 1 } = partOf(strip) ?? {};
    show(strip, key === "ArrowLeft" ? from - 1 : to, state.dataset);
  });
  document.addEventListener("click", (event) => {
    const strip = stripOf(event.target);
    const incident = strip && incidentAt(strip, state.dataset);
    if (incident === undefined) return;
    event.preventDefault();
    visit(incident);
  });
  for (const event of ["focusout", "scroll"]) addEventListener(event, hide, { passive: true });
}

/** Returns the id of the latest incident that had begun, and was not over, in the shown part of a strip. */
function incidentAt(strip: SVGSVGElement, { begin, bin: length, at }: DOMStringMap): string | undefined {
  const part = partOf(strip);
  if (part === undefined || part.band === "up") return undefined;
  const all = strip.closest<HTMLElement>("[data-incidents]")?.dataset["incidents"]?.split(",") ?? [];
  const fromMs = Number(begin) + part.from * Number(length);
  const toMs = Number(begin) + part.to * Number(length);
  return all
    .map((each) => each.split(" "))
    .find(
      ([, from = "", to = ""]) =>
        Date.parse(from) < toMs && (to === "" ? Number(at) : Date.parse(to)) >= fromMs,
    )?.[0];
}

function hide(): void {
  tip.hidden = true;
}

function show(strip: SVGSVGElement, nth: number, { begin, bin: length, at }: DOMStringMap): void {
  const bins = strip.viewBox.baseVal.width;
  bin = Math.min(Math.max(nth, 0), bins - 1);
  const part = partOf(strip);
  if (part === undefined) return hide();
  const [beginMs, binMs, nowMs] = [Number(begin), Number(length), Number(at)];
  const [fromMs, toMs] = [beginMs + part.from * binMs, Math.min(beginMs + part.to * binMs, nowMs)];
  const minutes = Math.round((toMs - fromMs) / 60_000);
  const long = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  const state = WORDS.get(part.band) ?? part.band;
  tip.textContent = `${minuteOf(fromMs, nowMs)} to ${minuteOf(toMs, nowMs)}: ${state}, ${long}`;
  tip.hidden = false;
  const { left, width, top } = strip.getBoundingClientRect();
  const x = left + ((bin + 0.5) / bins) * width - tip.offsetWidth / 2;
  tip.style.left = `${Math.min(Math.max(x, 4), innerWidth - tip.offsetWidth - 4)}px`;
  tip.style.top = `${top - tip.offsetHeight - 6}px`;
}

function stripOf(target: EventTarget | null): SVGSVGElement | undefined {
  const strip = target instanceof Element ? target.closest(".strip[role=img]") : null;
  return strip instanceof SVGSVGElement ? strip : undefined;
}

/** Returns the part of a strip around the shown bin that is in one state, as its paths have it. */
function partOf(strip: SVGSVGElement) {
  const parts = [...strip.querySelectorAll("path")].flatMap((path) =>
    Array.from((path.getAttribute("d") ?? "").matchAll(/M(\d+) [\d.]+h(\d+)/g), ([, from, length]) => {
      return { band: path.className.baseVal, from: Number(from), to: Number(from) + Number(length) };
    }),
  );
  return parts.find(({ from, to }) => from <= bin && bin < to);
}
