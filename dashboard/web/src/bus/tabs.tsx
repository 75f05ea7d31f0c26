/** The screens of the bus, beside each other. */
import "./bus.css";
import { useLocation } from "preact-iso";

const tabs = [
  ["/bus", "Overview"],
  ["/bus/deadletters", "Dead letters"],
  ["/bus/history", "History"],
] as const;

/** Where one can go; the longest address that fits is where one is. */
export function BusTabs() {
  const { path } = useLocation();
  const current = tabs.findLast(([to]) => path === to || path.startsWith(`${to}/`))?.[0];
  return (
    <nav class="tabs" aria-label="The bus">
      {tabs.map(([to, name]) => (
        <a key={to} href={to} aria-current={to === current ? "page" : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
