/** The screen of a runbook. */
import type { ComponentChildren } from "preact";
import { useRoute } from "preact-iso";
import { Head } from "../../ui/head.tsx";
import { BusTabs } from "../tabs.tsx";
import { text } from "../text.ts";
import { type Block, type Inline, type Runbook, runbookAddress } from "./runbook.ts";
import { runbooks } from "./runbooks.ts";

export function RunbookScreen() {
  const { runbook: id } = useRoute().params;
  const runbook = runbooks.find((one) => one.id === id);
  return (
    <>
      <Head title={runbook?.title ?? text.runbooks.title} />
      <BusTabs current="runbooks" />
      <div class="stack">
        {id !== undefined && runbook === undefined && (
          <p role="alert" class="notice">
            {text.runbooks.unknown}
          </p>
        )}
        {runbook && (
          <article class="card runbook">
            <Blocks of={runbook.blocks} />
          </article>
        )}
        <Contents except={runbook} />
      </div>
    </>
  );
}

function Contents({ except }: { except: Runbook | undefined }) {
  return (
    <section class="card" aria-labelledby="runbooks">
      <h2 id="runbooks">{except ? text.runbooks.others : text.runbooks.all}</h2>
      <ul class="plain contents">
        {runbooks
          .filter((one) => one !== except)
          .map(({ id, title }) => (
            <li key={id}>
              <a href={runbookAddress(id)}>{title}</a>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Blocks({ of: blocks }: { of: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, at) => (
        <BlockOf key={at} block={block} />
      ))}
    </>
  );
}

function BlockOf({ block }: { block: Block }) {
  if (block.type === "paragraph")
    return (
      <p>
        <Inlines of={block.of} />
      </p>
    );
  if (block.type === "code") return <pre class="log whole">{block.text}</pre>;
  const items = block.items.map((item, at) => (
    <li key={at}>
      <Blocks of={item} />
    </li>
  ));
  return block.isOrdered ? <ol>{items}</ol> : <ul>{items}</ul>;
}

const Inlines = ({ of }: { of: readonly Inline[] }) => <>{of.map(inlineOf)}</>;

function inlineOf(inline: Inline, key: number): ComponentChildren {
  if (typeof inline === "string") return inline;
  if (inline.type === "code") return <code key={key}>{inline.text}</code>;
  const content = <Inlines of={inline.of} />;
  switch (inline.type) {
    case "strong":
      return <strong key={key}>{content}</strong>;
    case "em":
      return <em key={key}>{content}</em>;
    case "link":
      return (
        <a key={key} href={inline.to}>
          {content}
        </a>
      );
    case "document":
      return (
        <span key={key}>
          {content} <span class="quiet small">({inline.path})</span>
        </span>
      );
  }
}
