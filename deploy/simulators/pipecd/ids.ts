/** Ids as the datastores take them. */

/** MySQL's column holds UUIDs in binary: their case does not matter. What is none is hashed, and so never found. */
export function uuidOf(id: string): string | undefined {
  const hex = id.replace(/^\{(.*)\}$/, "$1").toLowerCase();
  if (!/^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(hex)) return undefined;
  return hex.replaceAll("-", "").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** What MySQL sorts UUIDs by: it stores the parts of their time with the slowest first. */
export function binaryOrder(uuid: string): string {
  const [low, middle, high, ...rest] = uuid.split("-");
  return [high, middle, low, ...rest].join("");
}
