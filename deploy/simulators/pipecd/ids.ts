/** Row ids as MySQL stores and sorts them. */

/** The normal form of a UUID, which MySQL stores in binary; undefined for any other id, which never matches a row. */
export function uuidOf(id: string): string | undefined {
  const hex = id.replace(/^\{(.*)\}$/, "$1").toLowerCase();
  if (!/^([0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.test(hex)) return undefined;
  return hex.replaceAll("-", "").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** MySQL's sort key of a UUID, which it stores with the slowest-changing time part first. */
export function binaryOrder(uuid: string): string {
  const [low, middle, high, ...rest] = uuid.split("-");
  return [high, middle, low, ...rest].join("");
}
