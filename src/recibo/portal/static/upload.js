// Uploads by dropping, pasting or choosing files, with the progress of each.
"use strict";

(() => {
  const find = (selector, within = document) => within.querySelector(selector);
  const list = find("#uploads");
  if (!list) return;

  const MAX_TRIES = 20;
  const LONGEST_WAIT_S = 15;
  // The texts are in the language of the page.
  const text = (name, value = "") => list.dataset[name].replace("{}", value);
  const waiting = [];
  let current = null;

  const rows = (outcome = "") => list.querySelectorAll(`.upload${outcome}`).length;
  const counted = (name, count) => text(`${name}${count === 1 ? "One" : "Many"}`, count);
  // While files are sent, how many are done; then what became of them.
  const title = () => {
    const isDone = !current && !waiting.length;
    list.toggleAttribute("data-folded", isDone && isListed);
    const ends = ["uploaded", "known", "failed", "canceled"].map((name) => [name, rows(`[data-end=${name}]`)]);
    const parts = ends.filter(([, count]) => count).map(([name, count]) => counted(`${name}Count`, count));
    find("h2", list).textContent = isDone ? parts.join(", ") : counted("sending", rows());
    find("[data-done]", list).textContent = isDone ? "" : text("done", rows("[data-end]"));
    find("[data-whole]", list).hidden = isDone;
    find("[data-whole]", list).max = rows();
    find("[data-whole]", list).value = rows("[data-end]");
    find("[data-stop]", list).hidden = isDone;
    find("[data-close]", list).hidden = !isDone;
    find("[data-inbox]", list).hidden = !isDone || isListed;
  };

  // Where the list shows what was uploaded, only what else became of files stays.
  const isListed = "isListed" in list.dataset;
  const begin = () => {
    if (!list.hidden) return;
    const head = document.createElement("div");
    head.className = "card-h";
    head.innerHTML =
      '<h2></h2><span class="muted small num" data-done></span><progress data-whole></progress>' +
      '<button class="btn btn-sm btn-quiet push" type="button" data-stop></button>' +
      '<a class="btn btn-sm push" href="/portal/receipts" data-inbox></a>' +
      '<button class="btn btn-sm btn-quiet" type="button" data-close></button>';
    find("[data-whole]", head).setAttribute("aria-label", list.getAttribute("aria-label"));
    find("[data-stop]", head).textContent = text("cancelAll");
    find("[data-close]", head).textContent = text("close");
    find("[data-inbox]", head).textContent = text("openInbox");
    find("[data-close]", head).addEventListener("click", () => {
      list.hidden = true;
      list.replaceChildren();
    });
    list.append(head);
    list.hidden = false;
    find("[data-stop]", head).addEventListener("click", () => {
      for (const one of [...waiting]) cancel(one);
      if (current) cancel(current);
    });
  };

  const size = (bytes) =>
    bytes < 1e6
      ? `${Math.max(1, Math.round(bytes / 1e3))} kB`
      : `${(bytes / 1e6).toLocaleString(document.documentElement.lang, {
          minimumFractionDigits: 1,
          maximumFractionDigits: 1,
        })} MB`;

  // Drawn on a canvas: the page's policy allows no other pictures than the server's.
  const draw = async (file, box) => {
    try {
      const picture = await createImageBitmap(file, { resizeWidth: 96 });
      const canvas = document.createElement("canvas");
      canvas.className = "thumb";
      [canvas.width, canvas.height] = [picture.width, picture.height];
      canvas.getContext("2d").drawImage(picture, 0, 0);
      box.append(canvas);
    } catch {
      // PDF, HEIC and TIFF keep the icon.
    }
  };

  const say = (one, message, kind) => {
    const state = find("[data-state]", one.row);
    state.textContent = message;
    state.dataset.kind = kind ?? "";
  };

  const link = (one, id, label) => {
    const open = document.createElement("a");
    open.className = "link small bar-cell";
    open.href = `/portal/receipts/${id}`;
    open.textContent = label;
    find("progress", one.row).replaceWith(open);
  };

  const end = (one, message, outcome) => {
    say(one, message, outcome === "failed" ? "bad" : "");
    find("progress", one.row)?.remove();
    find("button", one.row)?.remove();
    one.row.classList.add("is-done");
    one.row.dataset.end = outcome;
    if (current === one) current = null;
    title();
    next();
  };

  const cancel = (one) => {
    const at = waiting.indexOf(one);
    if (at >= 0) waiting.splice(at, 1);
    clearTimeout(one.timer);
    one.request?.abort();
    end(one, text("canceled"), "canceled");
  };

  const answered = (one) => {
    const { request } = one;
    const answer = request.response;
    const wait = Number(request.getResponseHeader("Retry-After"));
    if ([429, 503].includes(request.status) && wait && wait <= LONGEST_WAIT_S && one.tries < MAX_TRIES) {
      say(one, text("waiting"));
      one.timer = setTimeout(() => send(one), wait * 1000);
      return;
    }
    const file = answer?.files?.[0];
    if (file?.receipt_id) {
      link(one, file.receipt_id, text("openReceipt"));
      const outcome = file.is_known ? "known" : "uploaded";
      end(one, text(outcome), outcome);
      document.dispatchEvent(new Event("recibo:changed"));
      return;
    }
    end(one, file?.error || answer?.error || text("failed"), "failed");
  };

  // Without a connection, the file is still here: it need not be chosen again.
  const offerAgain = (one) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "btn btn-sm bar-cell";
    button.textContent = text("tryAgain");
    button.addEventListener("click", () => {
      one.row.remove();
      upload([one.file], one.copyTo ? { copyTo: one.copyTo, accuracy: one.accuracy } : {});
    });
    find("[data-state]", one.row).before(button);
  };

  const send = (one) => {
    one.tries += 1;
    if (list.matches(".floating")) one.row.scrollIntoView({ block: "nearest" });
    const request = new XMLHttpRequest();
    one.request = request;
    request.responseType = "json";
    request.upload.addEventListener("progress", (event) => {
      const share = event.total ? Math.floor((event.loaded / event.total) * 100) : 0;
      const bar = find("progress", one.row);
      if (bar) bar.value = share;
      say(one, text("share", share));
    });
    request.addEventListener("load", () => answered(one));
    request.addEventListener("error", () => {
      end(one, text("offline"), "failed");
      offerAgain(one);
    });
    request.open("POST", one.copyTo ?? "/portal/receipts");
    request.setRequestHeader("Accept", "application/json");
    const form = new FormData();
    const options = find("[data-upload-form]");
    for (const name of ["accuracy", "type"]) {
      if (options?.elements[name] && !one.copyTo) form.append(name, options.elements[name].value);
    }
    if (one.copyTo) form.append("accuracy", one.accuracy);
    form.append("file", one.file, one.file.name || "pasted.png");
    request.send(form);
  };

  const next = () => {
    if (current || !waiting.length) return;
    current = waiting.shift();
    send(current);
  };

  // With a failed receipt, the file is a new copy of its document, and replaces it.
  const upload = (files, failed = {}) => {
    if (!files.length) return;
    // What an earlier button did is no longer of interest.
    find(".notes > [role=status]")?.remove();
    begin();
    for (const file of files) {
      const row = find("#upload-row").content.firstElementChild.cloneNode(true);
      const one = { file, row, tries: 0, ...failed };
      const name = file.name || text("pasted");
      find("[data-name]", row).textContent = name;
      find("[data-size]", row).textContent = size(file.size);
      find("progress", row).setAttribute("aria-label", text("uploadOf", name));
      const button = find("button", row);
      button.setAttribute("aria-label", text("cancelOf", name));
      button.addEventListener("click", () => cancel(one));
      draw(file, find(".thumb-box", row));
      list.append(row);
      waiting.push(one);
    }
    title();
    next();
  };

  // Chosen files are sent at once, too.
  const form = find("[data-upload-form]");
  form?.addEventListener("change", (event) => {
    if (event.target.type !== "file") return;
    upload([...event.target.files]);
    event.target.value = "";
  });
  // It stays in the page: the browser may discard a loose field before a file is chosen.
  const chooser = document.createElement("input");
  Object.assign(chooser, { type: "file", hidden: true, accept: "image/*,application/pdf" });
  let failed = {};
  const choose = (event, replaced = {}) => {
    event.preventDefault();
    failed = replaced;
    chooser.multiple = !failed.copyTo;
    chooser.click();
  };
  chooser.addEventListener("change", () => {
    upload([...chooser.files], failed);
    chooser.value = "";
  });
  list.after(chooser);
  for (const button of document.querySelectorAll("[data-upload], .bottombar .cam")) {
    button.addEventListener("click", choose);
  }
  // The rows of the list are replaced while receipts are read.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-copy-to]");
    if (link) choose(event, { copyTo: link.dataset.copyTo, accuracy: link.dataset.accuracy });
  });

  // Leaving the page ends what is being sent.
  addEventListener("beforeunload", (event) => {
    if (current || waiting.length) event.preventDefault();
  });

  const drop = find("#drop");
  // Browsers offer pictures of the page itself as files, too.
  let isOwn = false;
  addEventListener("dragstart", () => {
    isOwn = true;
  });
  addEventListener("dragend", () => {
    isOwn = false;
  });
  const hasFiles = (event) => !isOwn && event.dataTransfer?.types.includes("Files");
  let depth = 0;
  addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    depth += 1;
    drop.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (!hasFiles(event)) return;
    depth = Math.max(0, depth - 1);
    drop.hidden = depth === 0;
  });
  addEventListener("dragover", (event) => {
    if (hasFiles(event)) event.preventDefault();
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    drop.hidden = true;
    upload([...event.dataTransfer.files]);
  });
  addEventListener("paste", (event) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (!files.length) return;
    // Spreadsheets copy cells as text and as a picture: a field takes the text.
    const takesText = event.target.matches?.("input, textarea, [contenteditable]");
    if (takesText && event.clipboardData.types.includes("text/plain")) return;
    event.preventDefault();
    upload(files);
  });
})();
