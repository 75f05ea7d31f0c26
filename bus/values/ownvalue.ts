/**
 * Looks up a map's own property, not one that every JavaScript object inherits. Names come from users, and `constructor` is a
 * valid name for a label, a project, and a key of a Secret.
 */
export const ownValue = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
