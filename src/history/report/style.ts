/** The style sheet of the report. Every pair of text and background has a contrast of at least 4.5. */
export const STYLE = `
@page { size: A4 landscape; margin: 12mm; }
:root { color-scheme: light; }
body {
  max-width: 75rem; margin: 0 auto; padding: 0.5rem 0.75rem;
  font: 0.875rem/1.4 system-ui, sans-serif; font-variant-numeric: tabular-nums;
  color: #1b2128; background: #ffffff; overflow-wrap: anywhere;
  print-color-adjust: exact;
}
h1 { font-size: 1.5rem; margin: 0.5rem 0; }
h2 { font-size: 1.125rem; margin: 1.5rem 0 0.25rem; break-after: avoid; }
p { margin: 0.25rem 0; }
table { border-collapse: collapse; margin: 0.25rem 0 0.75rem; }
tr { break-inside: avoid; }
:is(th, td) { padding: 0.15rem 0.5rem 0.15rem 0; border-bottom: 1px solid #d9dee4; text-align: left; vertical-align: top; }
thead th { vertical-align: bottom; color: #56606c; }
tbody th { font-weight: 600; unicode-bidi: isolate; }
.scroll { overflow-x: auto; }
.figures :is(th, td):first-child { width: 12em; min-width: 12em; }
.figures :is(th, td):nth-child(n + 3) { width: 4.6em; text-align: right; overflow-wrap: normal; }
.note { color: #56606c; font-weight: 400; }
.less { color: #b3261e; font-weight: 600; }
.texts :is(th, td) { min-width: 6em; }
.files { font-size: 0.75rem; columns: 2 30em; }
svg { display: block; }
:is(.axis, .strip) { width: 12em; height: 1.3em; }
.axis { fill: #56606c; font-weight: 400; overflow: visible; }
.strip { background: #eceef2; }
path.up { fill: #1a7036; }
path.impaired { fill: #855600; }
path.planned { fill: #0b5cad; }
path.down { fill: #b3261e; }
path.unknown { fill: #56606c; }
@media (max-width: 40rem) {
  .figures :is(th, td):first-child { width: 8em; min-width: 8em; }
  :is(.axis, .strip) { width: 10em; }
}
@media (forced-colors: active) { :is(path, .axis) { fill: CanvasText; } }
@media print {
  body { font-size: 0.75rem; }
  .scroll { overflow-x: visible; }
}
`;
