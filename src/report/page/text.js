// Numbers and elements. Text from data only ever becomes text nodes and attributes.

const byId = (id) => document.getElementById(id);

function put(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

const el = (tag, attributes, ...children) => put(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  put(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

const numbers = new Intl.NumberFormat("en-US", { maximumFractionDigits: 3 });
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

const total = (values) => values.reduce((sum, value) => sum + value, 0);

const count = (n, noun) => `${whole.format(n)} ${noun}${n === 1 ? "" : noun.endsWith("ss") ? "es" : "s"}`;

function short(value) {
  if (value !== 0 && (Math.abs(value) < 0.001 || Math.abs(value) >= 1e12)) return value.toExponential(2);
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { maximumFractionDigits: Number.isInteger(value) ? 0 : digits });
}

function bytes(n) {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  while (n >= 1000 && unit < units.length - 1) {
    n /= 1000;
    unit += 1;
  }
  return `${n.toLocaleString("en-US", { maximumFractionDigits: unit && n < 100 ? 1 : 0 })} ${units[unit]}`;
}

function duration(seconds) {
  if (seconds >= 5400) return `${short(seconds / 3600)} h`;
  if (seconds >= 90) return `${short(seconds / 60)} min`;
  return `${short(seconds)} s`;
}

const share = (part, all) => (all ? `${((100 * part) / all).toFixed(part && part / all < 0.0995 ? 1 : 0)} %` : "–");

/// The last part of a path.
const fileName = (path) => path.slice(path.lastIndexOf("/") + 1) || path;

/// A path that breaks only behind its slashes.
const unbroken = (path) => path.split(/(?<=\/)/).map((part) => el("span", { class: "part" }, part));

/// A value of a distribution without its unit, and with it. Years have neither a unit nor separated thousands.
const plain = (value, unit) => (unit === "B" ? bytes(value) : unit === "year" ? String(value) : short(value));
const withUnit = (value, unit) => plain(value, unit) + (unit === "s" ? " s" : unit === "/s" ? unit : "");
