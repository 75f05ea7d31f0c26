/** Where screens show the YAML of their object. */
import type { KubeObject } from "denrei/kinds";
import type { FunctionComponent } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Loading, NoAnswer } from "../states.tsx";
import { useUrlState } from "../urlstate.ts";
import { text } from "./text.ts";

type Outcome = "loading" | "failed" | { readonly view: FunctionComponent<{ of: KubeObject }> };

/** The YAML of an object. */
export function ObjectYaml({ of: object }: { of: KubeObject }) {
  const [outcome, setOutcome] = useState<Outcome>("loading");
  useEffect(() => {
    if (outcome !== "loading") return;
    import("./view.tsx").then(
      ({ YamlView }) => setOutcome({ view: YamlView }),
      () => setOutcome("failed"),
    );
  }, [outcome]);
  if (typeof outcome === "object") return <outcome.view of={object} />;
  if (outcome === "loading") return <Loading />;
  return (
    <NoAnswer error={{ message: text.notLoaded, isSentence: true }} retry={() => setOutcome("loading")} />
  );
}

/** A card that users open to see the YAML. The address keeps whether it is open. */
export function YamlCard({ of: object }: { of: KubeObject }) {
  const [shown, setShown] = useUrlState("yaml");
  const id = useId();
  const isOpen = shown !== "";
  return (
    <section class="card" aria-labelledby={id}>
      <header>
        <h2 id={id}>{text.title}</h2>
        <button type="button" aria-expanded={isOpen} onClick={() => setShown(isOpen ? undefined : "shown")}>
          {isOpen ? text.hide : text.show}
        </button>
      </header>
      {isOpen && <ObjectYaml of={object} />}
    </section>
  );
}
