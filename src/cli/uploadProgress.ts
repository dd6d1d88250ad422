import type { DatasetFile, UploadProgress } from "../index.js";
import { isSilent, type Terminal, withBar } from "./terminal.js";

const redrawMs = 80;

/** Shows how far an upload is: a bar on a terminal, a line for every quarter elsewhere. */
export interface ProgressLine {
  show(this: void, progress: UploadProgress): void;
  end(): void;
}

/** A progress display on stderr. */
export function createProgress(terminal: Terminal): ProgressLine {
  if (isSilent(terminal)) return { show: () => {}, end: () => {} };
  return terminal.errorColumns > 0 ? drawnProgress(terminal) : plainProgress(terminal);
}

function drawnProgress(terminal: Terminal): ProgressLine {
  const started = performance.now();
  let drawn = Number.NEGATIVE_INFINITY;
  return {
    show({ sentBytes, totalBytes }) {
      const now = performance.now();
      if (now - drawn < redrawMs && sentBytes !== totalBytes) return;
      drawn = now;
      const rate = sentBytes / Math.max(1, now - started);
      const speed = `${megabytes(rate * 1000)}/s`;
      if (totalBytes === undefined) return terminal.redraw(`${megabytes(sentBytes)} sent, ${speed}`);
      const share = totalBytes === 0 ? 1 : sentBytes / totalBytes;
      const left = duration((totalBytes - sentBytes) / rate);
      const facts = `${percent(share)}  ${megabytes(sentBytes)} of ${megabytes(totalBytes)}  ${speed}  ${left} left`;
      terminal.redraw(withBar(share, facts, terminal));
    },
    end: () => terminal.redraw(""),
  };
}

function plainProgress(terminal: Terminal): ProgressLine {
  let shown = 0;
  return {
    show({ sentBytes, totalBytes }) {
      if (!totalBytes) return;
      const quarter = Math.floor((4 * sentBytes) / totalBytes);
      if (quarter <= shown) return;
      shown = quarter;
      terminal.note(`Sent ${sentBytes} of ${totalBytes} bytes (${quarter * 25} %).`);
    },
    end() {},
  };
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`.padStart(5);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function duration(ms: number): string {
  const seconds = Number.isFinite(ms) ? Math.ceil(ms / 1000) : 0;
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** What is said of a file that is stored: its size only where the answer has one. */
export function storedLine(file: string, { bytes, id }: Partial<DatasetFile>): string {
  return typeof bytes === "number" ? `${file}: ${bytes} bytes, file ${id}.` : `${file}: file ${id}.`;
}
