import "./bus.css";
import { Tabs } from "../ui/tabs.tsx";

const tabs = [
  ["", "Overview"],
  ["deadletters", "Dead letters"],
  ["history", "History"],
  ["runbooks", "Runbooks"],
] as const;

/** The tabs of the bus screens. */
export function BusTabs({ current }: { current: (typeof tabs)[number][0] | undefined }) {
  return <Tabs at="/bus" tabs={tabs} current={current} label="The bus" />;
}
