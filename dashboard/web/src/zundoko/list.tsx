/** The list of Hikawas. */
import type { Hikawa } from "@denrei/functions/zundoko/kinds";
import type { Stored } from "denrei/kinds";
import { useWatch } from "../api/watch.ts";
import { ListScreen, type ListSearch } from "../ui/listscreen.tsx";
import { namespace } from "../ui/namespace.tsx";
import { statusValue } from "../ui/sort.ts";
import { Health, healthOf } from "../ui/status.tsx";
import { type Column, createdColumn } from "../ui/table.tsx";
import { hikawas } from "./resources.ts";
import { kindsText, listText, factText as text } from "./text.ts";

const search: ListSearch<Hikawa> = { kinds: kindsText };

const wordsOf = ({ status }: Hikawa): number => status?.numZundokosSaid ?? 0;

const columns: readonly Column<Stored<Hikawa>>[] = [
  [text.song, (hikawa) => <Health of={hikawa} />, "text", (hikawa) => statusValue(healthOf(hikawa))],
  [text.words, wordsOf, "number", wordsOf],
  [text.pause, ({ spec }) => text.pauseOf(spec.intervalMillis), "number", ({ spec }) => spec.intervalMillis],
  createdColumn,
];

export function HikawaList() {
  const [watched] = useWatch([hikawas, { namespace: namespace.value || undefined }]);
  return (
    <ListScreen
      path="/zundoko"
      resource={hikawas}
      text={listText}
      watched={watched}
      columns={columns}
      search={search}
    />
  );
}
