// Draws a scene of the server (show/scene.py) on a plane.  It knows marks, not classifiers.

import { make } from "./plane.js";

const DASHES = { solid: "", dashed: "7 5", dotted: "2 4" };

// Paints are named, so that light and dark can each have their own colours.
export const paint = (name) => `var(--${name.replaceAll(" ", "-")})`;

// The outline of a marker of radius r around (x, y).
export function outline(marker, x, y, r) {
  const to = (points) => "M" + points.map(([u, v]) => `${x + u * r},${y + v * r}`).join("L") + "Z";
  const wing = 0.38;
  switch (marker) {
    case "square": return to([[-0.88, -0.88], [0.88, -0.88], [0.88, 0.88], [-0.88, 0.88]]);
    case "triangle": return to([[0, -1.15], [1.05, 0.75], [-1.05, 0.75]]);
    case "diamond": return to([[0, -1.25], [1.05, 0], [0, 1.25], [-1.05, 0]]);
    case "cross": return to([[-1, -1 + wing], [-1 + wing, -1], [0, -wing], [1 - wing, -1], [1, -1 + wing], [wing, 0],
      [1, 1 - wing], [1 - wing, 1], [0, wing], [-1 + wing, 1], [-1, 1 - wing], [-wing, 0]]);
    default: return `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`;
  }
}

// Points through which a pen goes; it is lifted where there is no number.
function pen(plane, xs, ys) {
  let path = "", down = false;
  for (let i = 0; i < xs.length; i += 1) {
    if (xs[i] === null || ys[i] === null) {
      down = false;
    } else {
      path += `${down ? "L" : "M"}${plane.px(xs[i]).toFixed(1)},${plane.py(ys[i]).toFixed(1)}`;
      down = true;
    }
  }
  return path;
}

function stroked(path, mark) {
  const element = make("path", { d: path, fill: "none", "stroke-dasharray": DASHES[mark.dash] ?? "", "stroke-linejoin": "round" });
  element.style.stroke = paint(mark.paint);
  element.style.strokeWidth = mark.width;
  element.style.strokeOpacity = mark.opacity ?? 1;
  return element;
}

const DRAW = {
  Area(mark, plane) {
    const path = mark.rings.map((ring) => pen(plane, ring.map((p) => p[0]), ring.map((p) => p[1])) + "Z").join("");
    const element = make("path", { d: path, "fill-rule": "evenodd" });
    element.style.fill = mark.hatched ? `url(#hatch-${plane.svg.id})` : paint(mark.paint);
    element.style.fillOpacity = mark.hatched ? 1 : mark.opacity;
    return element;
  },
  Line: (mark, plane) => stroked(pen(plane, mark.x, mark.y), mark),
  Segments(mark, plane) {
    const path = mark.x.map((x, i) => pen(plane, [x, mark.x2[i]], [mark.y[i], mark.y2[i]])).join("");
    return stroked(path, mark);
  },
  Bars(mark, plane) {
    const path = mark.at.map((at, i) => {
      const base = mark.base[i] ?? mark.base, end = base + mark.length[i];
      const [low, high] = [at - mark.thickness / 2, at + mark.thickness / 2];
      const corners = [[base, low], [end, low], [end, high], [base, high]].map(([along, across]) => (mark.horizontal ? [along, across] : [across, along]));
      return pen(plane, corners.map((c) => c[0]), corners.map((c) => c[1])) + "Z";
    }).join("");
    const element = make("path", { d: path });
    element.style.fill = paint(mark.paint);
    return element;
  },
  Points(mark, plane) {
    const path = mark.x.map((x, i) => outline(mark.marker, plane.px(x), plane.py(mark.y[i]), mark.size)).join("");
    const element = make("path", { d: path });
    element.style.fill = mark.hollow ? "none" : paint(mark.paint);
    if (mark.hollow) {
      element.style.stroke = paint(mark.paint);
      element.style.strokeWidth = 1.7;
    }
    return element;
  },
  Note(mark, plane) {
    const element = make("text", { class: "note", x: plane.px(mark.x), y: plane.py(mark.y) - 12, "text-anchor": mark.anchor }, mark.words);
    element.style.fill = paint(mark.paint);
    return element;
  },
};

export function drawScene(plane, scene) {
  const drawn = (scene?.marks ?? []).filter((mark) => DRAW[mark.kind]).map((mark) => {
    const element = DRAW[mark.kind](mark, plane);
    if (mark.label) element.dataset.label = mark.label;
    return element;
  });
  plane.scene.replaceChildren(...drawn);
}

// What the labelled marks of a scene look like; marks with one label are one entry.
export function drawLegend(list, scene) {
  const named = new Map((scene?.marks ?? []).filter((mark) => mark.label).map((mark) => [mark.label, mark]));
  list.replaceChildren(...[...named].map(([label, mark]) => {
    const item = document.createElement("li");
    const width = mark.kind === "Points" ? 14 : 26;
    item.append(make("svg", { viewBox: `0 0 ${width} 14`, width, "aria-hidden": "true" }, swatch(mark)), label);
    return item;
  }));
}

function swatch(mark) {
  if (mark.kind === "Line" || mark.kind === "Segments") return stroked("M1,7L25,7", { ...mark, opacity: 1 });
  const element = make("path", { d: mark.kind === "Area" || mark.kind === "Bars" ? "M2,2H24V12H2Z" : outline(mark.marker, 7, 7, 5.5) });
  element.style.fill = mark.hollow ? "none" : paint(mark.paint);
  if (mark.hollow) element.style.stroke = paint(mark.paint);
  if (mark.kind === "Area") element.style.fillOpacity = 0.5;
  return element;
}
