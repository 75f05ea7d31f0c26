/** A one-page summary of a CPU profile: the functions and modules with the most time. */
import { fileURLToPath } from "node:url";
import { type Profile, preload } from "./profiler/profiler.ts";

type Node = Profile["nodes"][number];

const shown = 25;
const repository = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Percent of the busy time by function (self), by module (self), and by function including its callees. The calls that start and
 * stop the profile, which take up to a second, are left out.
 */
export function summary({ nodes, samples, timeDeltas }: Profile): string {
  const nodeOf = new Map(nodes.map((node) => [node.id, node]));
  const parentOf = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node])));
  const own = new Map<string, number>();
  const modules = new Map<string, number>();
  const whole = new Map<string, number>();
  const add = (to: Map<string, number>, name: string, micros: number) =>
    to.set(name, (to.get(name) ?? 0) + micros);
  let busy = 0;
  let total = 0;
  samples.forEach((id, at) => {
    const node = nodeOf.get(id);
    const micros = timeDeltas[at] ?? 0;
    total += micros;
    if (node === undefined || node.callFrame.functionName === "(idle)") return;
    const stack: Node[] = [];
    for (let frame: Node | undefined = node; frame; frame = parentOf.get(frame.id)) stack.push(frame);
    if (stack.some(({ callFrame }) => callFrame.url === preload)) return;
    busy += micros;
    add(own, nameOf(node), micros);
    add(modules, moduleOf(node), micros);
    // A recursive function counts once.
    for (const name of new Set(stack.map(nameOf))) add(whole, name, micros);
  });
  whole.delete("(root)");
  return [
    `  busy ${(busy / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} s`,
    list("function, its own time", own, busy),
    list("module, its own time", modules, busy),
    list("function, with what it calls", whole, busy),
  ].join("\n\n");
}

function list(title: string, times: ReadonlyMap<string, number>, busy: number): string {
  const rows = [...times]
    .sort(([, a], [, b]) => b - a)
    .slice(0, shown)
    .map(([name, micros]) => `  ${((micros / busy) * 100).toFixed(1).padStart(5)} %  ${name}`);
  return [`  ${title}`, ...rows].join("\n");
}

function locationOf(url: string): string {
  const path = url.startsWith("file:") ? fileURLToPath(url) : url;
  const packages = path.lastIndexOf("node_modules/");
  if (packages >= 0) return path.slice(packages + "node_modules/".length);
  return path.startsWith(repository) ? path.slice(repository.length) : path;
}

function nameOf({ callFrame: { functionName, url, lineNumber } }: Node): string {
  const name = functionName || "(anonymous)";
  return url === "" ? name : `${name}  ${locationOf(url)}:${lineNumber + 1}`;
}

/** The package, the file of ours, or the part of Node. */
function moduleOf({ callFrame: { functionName, url } }: Node): string {
  if (url === "") return functionName.startsWith("(") ? functionName : "native code";
  const location = locationOf(url);
  if (!url.includes("node_modules/")) return location;
  return location.split("/", location.startsWith("@") ? 2 : 1).join("/");
}
