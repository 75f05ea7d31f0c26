/** Tabs of a screen. */

/** Tabs as links. An empty path is the address of the screen itself. */
export function Tabs({
  at,
  tabs,
  current,
  label,
}: {
  at: string;
  tabs: readonly (readonly [path: string, name: string])[];
  current: string;
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
