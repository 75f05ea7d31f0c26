import "./bus.css";
import { Tabs } from "../ui/tabs.tsx";
import { text } from "./text.ts";

const tabs = [
  ["", text.tabs.overview],
  ["deadletters", text.tabs.deadLetters],
  ["history", text.tabs.history],
  ["runbooks", text.tabs.runbooks],
] as const;

/** The tabs of the bus screens. */
export function BusTabs({ current }: { current: (typeof tabs)[number][0] | undefined }) {
  return <Tabs at="/bus" tabs={tabs} current={current} label={text.title} />;
}
