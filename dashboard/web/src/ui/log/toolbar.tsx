/** The controls of a log view. */
import type { Finding } from "./finding.ts";
import { type LogSettings, logSettings } from "./settings.ts";
import { text } from "./text.ts";

/** Search, settings, and actions. */
export function Toolbar({
  finding,
  isPaused,
  isOver,
  onFind,
  onPause,
  onFollow,
  onDownload,
}: {
  finding: Finding;
  isPaused: boolean;
  isOver: boolean;
  /** Selects the next match, or with -1 the previous one. */
  onFind: (step: 1 | -1) => void;
  onPause: () => void;
  onFollow: () => void;
  /** Undefined without lines. */
  onDownload: (() => void) | undefined;
}) {
  return (
    <div class="logtools">
      <SearchField finding={finding} onFind={onFind} />
      <div class="row">
        <Setting name="timestamps">{text.timestamps}</Setting>
        <Setting name="wrap">{text.wrap}</Setting>
        {!isOver && (
          <button type="button" onClick={isPaused ? onFollow : onPause}>
            {isPaused ? text.follow : text.pause}
          </button>
        )}
        <button type="button" disabled={onDownload === undefined} onClick={onDownload}>
          {text.download}
        </button>
      </div>
    </div>
  );
}

function SearchField({ finding, onFind }: { finding: Finding; onFind: (step: 1 | -1) => void }) {
  const { matches, current, isFilter, setFilter, setText } = finding;
  const all = matches.length;
  const isEmpty = finding.text === "";
  return (
    <search class="row">
      <input
        type="search"
        aria-label={text.search}
        placeholder={text.search}
        autocomplete="off"
        spellcheck={false}
        value={finding.text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={({ key, shiftKey }) => {
          if (key === "Enter") onFind(shiftKey ? -1 : 1);
          if (key === "Escape") setText("");
        }}
      />
      <button type="button" aria-label={text.previous} disabled={all === 0} onClick={() => onFind(-1)}>
        ↑
      </button>
      <button type="button" aria-label={text.next} disabled={all === 0} onClick={() => onFind(1)}>
        ↓
      </button>
      <span class="quiet small" role="status">
        {!isEmpty && (current === undefined ? text.matches(all) : text.match(current + 1, all))}
      </span>
      {!isEmpty && (
        <label class="choice">
          <input
            type="checkbox"
            checked={isFilter}
            onChange={({ currentTarget }) => setFilter(currentTarget.checked)}
          />
          {text.onlyMatches}
        </label>
      )}
    </search>
  );
}

function Setting({ name, children }: { name: keyof LogSettings; children: string }) {
  return (
    <label class="choice">
      <input
        type="checkbox"
        checked={logSettings.value[name]}
        onChange={({ currentTarget }) => {
          logSettings.value = { ...logSettings.value, [name]: currentTarget.checked };
        }}
      />
      {children}
    </label>
  );
}
