const backend = "https://backend.example.com";

async function search(words) {
  const url = `${backend}/?q=${encodeURIComponent(words)}`;
  const response = await fetch(url);
  const { best, error } = await response.json();
  return response.ok ? best : error;
}

document.body.textContent = await search("my password");
