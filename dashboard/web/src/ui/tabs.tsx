/** Tabs of a screen. */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { statesText as text } from "./text.ts";

type TabList = readonly (readonly [path: string, name: string])[];

/** The tabs of a screen, and what they are about. */
interface ScreenTabs {
  /** The address of the screen itself. */
  readonly at: string;
  readonly tabs: TabList;
  readonly label: string;
}

/** The tabs of the current screen, for the search. */
export const currentTabs = signal<ScreenTabs | undefined>(undefined);

/** The address of a tab. An empty path is that of the screen itself. */
export const tabAddress = (at: string, path: string): string => (path === "" ? at : `${at}/${path}`);

/** Tabs as links. */
export function Tabs({
  at,
  tabs,
  current,
  label,
}: ScreenTabs & {
  /** Undefined on a page beside the tabs. */
  current: string | undefined;
}) {
  useEffect(() => {
    const shown = { at, tabs, label };
    currentTabs.value = shown;
    return () => {
      if (currentTabs.value === shown) currentTabs.value = undefined;
    };
  }, [at, tabs, label]);
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([path, name]) => (
        <a key={path} href={tabAddress(at, path)} aria-current={path === current ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}

/** Whether a screen has a tab with this path. */
export const hasTab = (tabs: TabList, path: string): boolean => tabs.some(([known]) => known === path);

/** Shown for the address of a tab that the screen does not have. `at` is that of the screen itself. */
export function TabNotFound({ at, label }: { at: string; label: string }) {
  return (
    <div class="empty">
      <h2>{text.pageNotFound}</h2>
      <a href={at}>{label}</a>
    </div>
  );
}
