/** The invariants of a finished song, whatever happened in between. */
import { expect } from "vitest";
import { controllerOf, type Stored } from "../../bus/kube/object.ts";
import { Hikawa, Kiyoshi, Zundoko } from "../../functions/zundoko/kinds.ts";
import type { Ket } from "../ket/index.ts";

/** A Hikawa to create. */
export const hikawa = (name: string, intervalMillis: number): Hikawa => ({
  apiVersion: "zundokokiyoshi.kaitoy.github.com/v1beta1",
  kind: "Hikawa",
  metadata: { name, namespace: "default" },
  spec: { intervalMillis },
});

export const isFinished = ({ status }: Stored<Hikawa>): boolean => status?.kiyoshied === true;

const number = (name: string): number => Number(/-zundoko-(\d+)$/.exec(name)?.[1]);

/** Asserts the acceptance list for every named Hikawa: order, no gap, no duplicate, one Kiyoshi, all owned. */
export async function expectFinishedSongs(
  environment: Pick<Ket, "list">,
  names: readonly string[],
): Promise<void> {
  const [hikawas, zundokos, kiyoshis] = await Promise.all([
    environment.list(Hikawa),
    environment.list(Zundoko),
    environment.list(Kiyoshi),
  ]);
  for (const name of names) {
    const found = hikawas.find(({ metadata }) => metadata.name === name);
    expect(found, name).toBeDefined();
    const uid = found?.metadata.uid;
    const words = zundokos
      .filter((zundoko) => controllerOf(zundoko)?.uid === uid)
      .sort((a, b) => number(a.metadata.name) - number(b.metadata.name));
    const numbers = words.map(({ metadata }) => number(metadata.name));
    expect(numbers, `${name}: numbers`).toEqual(words.map((_, at) => at + 1));
    const said = words.map(({ spec }) => spec.say);
    expect(said.slice(-5), `${name}: ending`).toEqual(["Zun", "Zun", "Zun", "Zun", "Doko"]);
    if (said.length > 5) expect(said.at(-6), `${name}: before the ending`).toBe("Doko");
    const kiyoshi = kiyoshis.filter((object) => controllerOf(object)?.uid === uid);
    expect(kiyoshi.map(({ metadata, spec }) => [metadata.name, spec.say])).toEqual([
      [`${name}-kiyoshi`, "Kiyoshi!"],
    ]);
    expect(found?.spec).toMatchObject({ numZundokos: words.length, sayKiyoshi: true });
    expect(found?.status).toMatchObject({ numZundokosSaid: words.length, kiyoshied: true });
  }
}
