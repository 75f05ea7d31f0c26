/** Shown for an unknown address below that of the bus. */
import { Head } from "../ui/head.tsx";
import { BusTabs } from "./tabs.tsx";
import { text } from "./text.ts";

export function BusNotFound() {
  return (
    <>
      <Head title={text.notFound.title} />
      <BusTabs current={undefined} />
      <div class="empty">
        <p>{text.notFound.why}</p>
        <a href="/bus">{text.notFound.back}</a>
      </div>
    </>
  );
}
