"""Parts of ``sfumato audit``: its subjects (mechanisms, samples, functions), and the options beside them."""
