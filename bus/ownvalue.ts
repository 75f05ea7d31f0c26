/**
 * What a map has under a name, and never what each object of JavaScript inherits: names come from users, and `constructor` is a
 * valid one for a label, a project, and a key of a Secret.
 */
export const ownValue = <T>(map: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  map !== undefined && Object.hasOwn(map, name) ? map[name] : undefined;
