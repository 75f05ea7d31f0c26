/** Cards of labeled values. */
import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

/** A label and its value. A fact without a value is left out. */
export type Fact = readonly [name: string, value: ComponentChildren];

/** A card of facts. */
export function Facts({ title, of: facts }: { title: string; of: readonly Fact[] }) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
      </header>
      <dl class="facts">
        {facts
          .filter(([, value]) => value !== undefined && value !== "" && value !== false)
          .map(([name, value]) => (
            <div key={name} class="fact">
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}
