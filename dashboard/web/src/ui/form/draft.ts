/** Drafts of objects in forms. Pure. */

/** Field names and list indexes, outermost first. */
export type Path = readonly (string | number)[];

/** A path as the API server writes it: `spec.domains[0]`. */
export const pathText = (path: Path): string =>
  path.reduce<string>(
    (text, step) => (typeof step === "number" ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
    "",
  );

type Holder = Readonly<Record<string | number, unknown>>;

/** The value at a path, or undefined. */
export const valueAt = (draft: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, step) => (value as Holder | undefined)?.[step], draft);

/** A copy with another value at a path. Undefined removes the field or list item. */
export function withValueAt(draft: unknown, path: Path, value: unknown): unknown {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  const inner = rest.length === 0 ? value : withValueAt((draft as Holder | undefined)?.[step], rest, value);
  if (typeof step === "number") {
    const list = [...((draft as readonly unknown[] | undefined) ?? [])];
    if (inner === undefined) list.splice(step, 1);
    else list[step] = inner;
    return list;
  }
  const { [step]: _, ...others } = (draft ?? {}) as Record<string, unknown>;
  return inner === undefined ? others : { ...others, [step]: inner };
}

/** Removes empty objects, lists, and strings. */
export function withoutEmpty(value: unknown): unknown {
  if (value === "" || value === null) return undefined;
  if (Array.isArray(value)) {
    const items = value.map(withoutEmpty).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (typeof value !== "object") return value;
  const fields = Object.entries(value as object).flatMap(([name, inner]) => {
    const kept = withoutEmpty(inner);
    return kept === undefined ? [] : [[name, kept] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/**
 * The path that a value has in the draft without empty values, where lists are shorter. Undefined for an item that is left out.
 */
export function pathWithoutEmpty(draft: unknown, path: Path): Path | undefined {
  const [step, ...rest] = path;
  if (step === undefined) return [];
  const inner = pathWithoutEmpty((draft as Holder | undefined)?.[step], rest);
  if (typeof step !== "number") return inner && [step, ...inner];
  const list = (draft ?? []) as readonly unknown[];
  const isKept = (item: unknown) => withoutEmpty(item) !== undefined;
  if (!isKept(list[step])) return undefined;
  return inner && [list.slice(0, step).filter(isKept).length, ...inner];
}

/** Adds the objects of a skeleton that the draft lacks, so that a schema reports the missing fields and not their parents. */
export function withSkeleton(draft: unknown, skeleton: object): unknown {
  if (draft !== undefined && !isPlain(draft)) return draft;
  const inner = Object.entries(skeleton).map(([name, within]) => [name, withSkeleton(draft?.[name], within)]);
  return { ...draft, ...Object.fromEntries(inner) };
}

/** The merge patch (RFC 7386) from `before` to `after`, or undefined if they are equal. Lists are replaced as a whole. */
export function mergePatchOf(before: unknown, after: unknown): unknown {
  if (isPlain(before) && isPlain(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    const changes = [...names].flatMap((name) => {
      const change = name in after ? mergePatchOf(before[name], after[name]) : null;
      return change === undefined ? [] : [[name, change] as const];
    });
    return changes.length === 0 ? undefined : Object.fromEntries(changes);
  }
  return JSON.stringify(before) === JSON.stringify(after) ? undefined : after;
}

/** Whether a merge patch (RFC 7386) would change nothing. */
export function hasPatch(value: unknown, patch: unknown): boolean {
  if (patch === undefined) return true;
  if (!isPlain(patch)) return JSON.stringify(value) === JSON.stringify(patch);
  return Object.entries(patch).every(([name, change]) => {
    const inner = isPlain(value) ? value[name] : undefined;
    return change === null ? inner === undefined : hasPatch(inner, change);
  });
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
