/** The dialog of the search. */
import "./search.css";
import { useMemo, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { Dialog } from "../ui/dialog.tsx";
import { namespace, useChooseNamespace } from "../ui/namespace.tsx";
import { actionGroup, namespaceGroup, screenGroup, tabGroup, useCreations } from "./actions.ts";
import { Combobox } from "./combobox.tsx";
import type { Entry, EntryGroup } from "./entry.ts";
import { type Listing, namesIn, useListings } from "./listings.ts";
import { objectGroups, visitedEntries } from "./objects.ts";
import { rank } from "./ranking.ts";
import { groupText, paletteText as text } from "./text.ts";
import { visitedPaths } from "./visited.ts";

/** What the dialog needs from the frame. */
export interface PaletteProps {
  readonly onClose: () => void;
  readonly onLogOut: () => void;
}

/** Finds objects of all kinds in the selected namespace, screens, and actions. */
export function Palette({ onClose, onLogOut }: PaletteProps) {
  const { route } = useLocation();
  const [typed, setTyped] = useState("");
  const listings = useListings(namespace.value);
  const groups = useGroups(typed.trim() === "", listings, onLogOut);
  const ranked = useMemo(() => rank(groups, typed), [groups, typed]);
  const count = ranked.reduce((sum, group) => sum + group.count, 0);
  const choose = ({ to }: Entry) => {
    onClose();
    if (typeof to === "string") route(to);
    else to();
  };
  return (
    <Dialog title={text.title} onClose={onClose}>
      <div class="palette">
        <Combobox typed={typed} onType={setTyped} groups={ranked} onChoose={choose} />
        <div class="below small quiet">
          <p role="status">
            {text.count(count)}
            {listings.some(({ state }) => state === "loading") && ` ${text.loading}`}
          </p>
          <NotSearched listings={listings} />
          <button type="button" onClick={onClose}>
            {text.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

/** Everything that can be found. Without words, objects are those that the user has visited. */
function useGroups(
  isEmpty: boolean,
  listings: readonly Listing[],
  onLogOut: () => void,
): readonly EntryGroup[] {
  const { path } = useLocation();
  const choose = useChooseNamespace();
  const objects = useMemo(() => listings.flatMap(objectGroups), [listings]);
  const creations = useCreations();
  // Nothing but the lists and the rights changes while the dialog is open.
  return useMemo(() => {
    const others = [tabGroup(), screenGroup()];
    const actions = [actionGroup(creations, onLogOut), namespaceGroup(choose)];
    if (!isEmpty) return [...others, ...objects, ...actions];
    const visited = visitedEntries(visitedPaths(), path, listings, namespace.value);
    return [{ name: groupText.visited, entries: visited }, ...others, ...actions];
  }, [isEmpty, objects, creations.map(({ id }) => id).join()]);
}

/** Names the kinds that the results lack. */
function NotSearched({ listings }: { listings: readonly Listing[] }) {
  const forbidden = namesIn(listings, "forbidden");
  const away = namesIn(listings, "away");
  return (
    <>
      {forbidden.length > 0 && <p>{text.notSearched(forbidden, namespace.value)}</p>}
      {away.length > 0 && <p>{text.away(away)}</p>}
    </>
  );
}
