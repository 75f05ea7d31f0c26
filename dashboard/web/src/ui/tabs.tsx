/** Tabs of a screen. */

type TabList = readonly (readonly [path: string, name: string])[];

/** Tabs as links. An empty path is the address of the screen itself. */
export function Tabs({
  at,
  tabs,
  current,
  label,
}: {
  at: string;
  tabs: TabList;
  /** Undefined on a page beside the tabs. */
  current: string | undefined;
  label: string;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([path, name]) => (
        <a
          key={path}
          href={path === "" ? at : `${at}/${path}`}
          aria-current={path === current ? "page" : undefined}
        >
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
      <h2>Page not found</h2>
      <a href={at}>{label}</a>
    </div>
  );
}
