/** The list of Hikawas. */
import type { Hikawa } from "@denrei/functions/zundoko/kinds";
import type { Stored } from "denrei/kinds";
import { useWatch } from "../api/watch.ts";
import { ListScreen, type ListSearch, type ListText } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { statusValue } from "../ui/sort.ts";
import { Health, healthOf } from "../ui/status.tsx";
import { type Column, createdColumn } from "../ui/table.tsx";
import { hikawas } from "./resources.ts";

const text: ListText = {
  title: "Zundoko",
  create: "Create a Hikawa",
  none: "No Hikawas here yet",
  about:
    "A Hikawa says Zun or Doko, one object per word, until the last five words are Zun, Zun, Zun, Zun, Doko. Then comes Kiyoshi.",
  createFirst: "Create the first one",
};

const search: ListSearch<Hikawa> = { kinds: "Hikawas" };

const wordsOf = ({ status }: Hikawa): number => status?.numZundokosSaid ?? 0;

const columns: readonly Column<Stored<Hikawa>>[] = [
  ["Song", (hikawa) => <Health of={hikawa} />, "text", (hikawa) => statusValue(healthOf(hikawa))],
  ["Words", wordsOf, "number", wordsOf],
  ["Pause", ({ spec }) => `${spec.intervalMillis} ms`, "number", ({ spec }) => spec.intervalMillis],
  createdColumn,
];

export function HikawaList() {
  const [watched] = useWatch([hikawas, { namespace: namespace.value || undefined }]);
  return <ListScreen path="/zundoko" text={text} watched={watched} columns={columns} search={search} />;
}
