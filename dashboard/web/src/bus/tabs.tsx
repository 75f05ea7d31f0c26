import "./bus.css";
import { Tabs } from "../ui/tabs.tsx";

const tabs = [
  ["", "Overview"],
  ["deadletters", "Dead letters"],
  ["history", "History"],
] as const;

/** The screens of the bus, beside each other. */
export function BusTabs({ current }: { current: (typeof tabs)[number][0] }) {
  return <Tabs at="/bus" tabs={tabs} current={current} label="The bus" />;
}
