/** Which objects of a kind the bus knows. */
import type { Bus } from "../connect.ts";
import {
  type GroupKind,
  keyText,
  kindSubjects,
  type ObjectKey,
  parseObjectSubject,
  streams,
} from "../subjects.ts";

/** Objects of a kind on the bus, also those that are gone: a request for one of them finds nothing to do. */
export async function objectKeys(
  { jsm }: Pick<Bus, "jsm">,
  cluster: string,
  kind: GroupKind,
): Promise<ObjectKey[]> {
  const { state } = await jsm.streams.info(streams.objects, { subjects_filter: kindSubjects(cluster, kind) });
  const found = new Map<string, ObjectKey>();
  for (const key of Object.keys(state.subjects ?? {}).flatMap(keyIn)) found.set(keyText(key), key);
  return [...found.values()];
}

/** The key in a subject of OBJECTS; none where no object can be. */
function keyIn(subject: string): ObjectKey[] {
  try {
    const { namespace, name } = parseObjectSubject(subject);
    return [{ namespace, name }];
  } catch (error) {
    if (error instanceof RangeError) return [];
    throw error;
  }
}
