/** A round counts only if every Hikawa is correct. */
import { controllerOf, type Stored } from "../../bus/kube/object.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";
import { words } from "./contender.ts";
import type { BenchEnvironment } from "./environment.ts";

/** The expected end of every Hikawa in a round. */
const expected = JSON.stringify({
  numZundokos: words.length,
  sayKiyoshi: true,
  numZundokosSaid: words.length,
  kiyoshied: true,
  words: words.map((say, at) => `zundoko-${String(at + 1).padStart(3, "0")} ${say}`),
  kiyoshis: ["kiyoshi Kiyoshi!"],
});

/** Throws an error with the first mistake unless the named Hikawas exist and all are as expected. */
export async function verifyHikawas(
  { client, namespace, signal }: BenchEnvironment,
  names: readonly string[],
): Promise<void> {
  const [hikawas, zundokos, kiyoshis] = await Promise.all([
    client.list(Hikawa, namespace, undefined, signal),
    client.list(Zundoko, namespace, undefined, signal),
    client.list(Kiyoshi, namespace, undefined, signal),
  ]);
  const byName = new Map(hikawas.items.map((hikawa) => [hikawa.metadata.name, hikawa]));
  const wordsOf = byController(zundokos.items);
  const kiyoshisOf = byController(kiyoshis.items);
  for (const name of names) {
    const hikawa = byName.get(name);
    if (hikawa === undefined) throw new Error(`expected the Hikawa ${name}, found none`);
    const { uid } = hikawa.metadata;
    const suffixes = (objects: readonly Stored<Zundoko | Kiyoshi>[] | undefined): string[] =>
      (objects ?? [])
        .map(({ metadata, spec }) => `${metadata.name.slice(name.length + 1)} ${spec.say}`)
        .sort();
    const found = JSON.stringify({
      numZundokos: hikawa.spec.numZundokos,
      sayKiyoshi: hikawa.spec.sayKiyoshi,
      numZundokosSaid: hikawa.status?.numZundokosSaid,
      kiyoshied: hikawa.status?.kiyoshied,
      words: suffixes(wordsOf.get(uid)),
      kiyoshis: suffixes(kiyoshisOf.get(uid)),
    });
    if (found !== expected)
      throw new Error(`the Hikawa ${name} is wrong: expected ${expected}, found ${found}`);
  }
}

function byController<T extends Stored>(objects: readonly T[]): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const object of objects) {
    const uid = controllerOf(object)?.uid ?? "";
    const group = groups.get(uid);
    if (group) group.push(object);
    else groups.set(uid, [object]);
  }
  return groups;
}
