#pragma once
/// \file
/// After a compilation: finds out on what it depended.

#include <gpu/compiler/cache_conditions.hpp>
#include <gpu/compiler/include_scan.hpp>
#include <gpu/compiler/library_headers.hpp>
#include <gpu/compiler/program.hpp>
#include <gpu/compiler/text_set.hpp>

namespace gpu::detail {

/// What was at a place before a compilation.
struct place_state {
  bool there = false;
  file_identity identity = {};
  text contents = {};  // of a plain file
};

/// The places where a compilation would look for the user's headers, as they were before it. What
/// is not as it was cannot be told from what the compiler saw.
template <class Builder = text_builder> struct basic_places_before {
  file_clock started = {};  // the clock of the file system, which may be another machine's
  text_set paths = {};
  sequence<place_state> states = {};

  const place_state* find(const text& path) const noexcept {
    const std::size_t position = paths.position(path);
    return position == 0 ? nullptr : &states[position - 1];
  }
};
using places_before = basic_places_before<>;

/// Gathers the conditions under which a compiled program may be used again. What was opened is
/// known; where the compiler looked before it found that is worked out from the directives in all
/// of it, and it does no harm to name too many places.
template <class Builder = text_builder> class basic_condition_gatherer {
 public:
  /// `folders` are those with headers, in order.
  basic_condition_gatherer(const program& source, const sequence<text>& folders,
                           const places_before& before)
      : source_{source}, folders_{folders}, before_{before} {
    for (const program_header& header : source.headers()) given_.insert(header.name);
  }

  /// Looks at the user's headers, to be called right before the compilation. Waits, for some
  /// milliseconds, where one was written so lately that its stamp could not be told from one given
  /// during the compilation. Headers in the last `toolkit` folders are older than that.
  static places_before look_before(const program& source, const sequence<text>& folders,
                                   std::size_t toolkit) {
    places_before before;
    basic_condition_gatherer all(source, folders, before);
    all.scan_given();
    std::uint64_t newest = 0;
    const auto see = [&](const text& path) {
      if (const place_state* known = before.find(path)) return known->there;
      struct stat about{};
      place_state state;
      state.there = ::stat(path.c_str(), &about) == 0;
      if (state.there) {
        state.identity = identity_of(about);
        if (state.identity.changed > newest) newest = state.identity.changed;
        if (read_header(path, state.contents, state.identity)) all.scan(state.contents, path);
      }
      before.paths.insert(path);
      before.states.push_back(state);
      return state.there;
    };
    for (std::size_t i = 0; i < all.lookups_.size(); ++i) {
      const lookup l = all.lookups_[i];
      bool found = l.quoted && see(join(l.own_folder, l.name));
      for (std::size_t folder = 0; folder + toolkit < folders.size() && !found; ++folder) {
        found = see(join(folders[folder], l.name));
      }
    }
    file_clock now = file_clock::now();
    constexpr timespec millisecond{0, 1'000'000};
    for (int i = 0; i < 12 && newest >= now.stamp; ++i) {
      ::nanosleep(&millisecond, nullptr);
      now = file_clock::now();
    }
    before.started = now;
    return before;
  }

  /// Fills in all but the compiler. `opened` are the files that the compilation opened; where it
  /// could not tell, `complete` is false, and all that it could have opened is taken. Returns why
  /// the conditions cannot be known, or nothing.
  text gather(const sequence<text>& opened, bool complete, cache_conditions& conditions) {
    complete_ = complete;
    out_ = &conditions;
    conditions.folders = folders_;
    scan_given();
    if (complete) {
      for (const text& path : opened) {
        if (!given_.contains(path) && !scan_own(path)) open(path);
      }
    }
    // Where the compiler could not tell, looking finds more files, and these have more lookups.
    std::size_t looked = 0, folders_known = 0;
    do {
      if (folders_known != own_folders_.list().size()) looked = 0;
      folders_known = own_folders_.list().size();
      for (; looked < lookups_.size(); ++looked) {
        const lookup copied = lookups_[looked];
        look(copied);
      }
      look_for_unexplained();
    } while (looked < lookups_.size() || folders_known != own_folders_.list().size());
    conditions.absent = absent_.list();
    conditions.present = present_.list();
    if (trouble_.empty() && !(files_.list().empty() && absent_.list().empty()) &&
        before_.started.was_set_until(file_clock::now())) {
      because("the clock was set while the program was compiled");
    }
    return trouble_;
  }

  /// The identities of the files of the conditions.
  const sequence<file_identity>& seen_files() const noexcept { return seen_files_; }

 private:
  struct lookup {
    text name;
    text own_folder;  // of the file with the directive
    bool quoted;
  };

  void because(const char* first, const text& path = {}, const char* last = "") {
    if (!trouble_.empty()) return;
    text_builder out;
    out << first << path << last;
    trouble_ = out.finish();
  }

  static text join(const text& folder, const text& name) {
    if (folder.empty() || name.c_str()[0] == '/') return name;
    text_builder out;
    out << folder;
    if (folder.end()[-1] != '/') out << '/';
    out << name;
    return out.finish();
  }
  static text folder_of(string_ref path) {
    std::size_t size = path.size();
    while (size > 0 && path[size - 1] != '/') --size;
    return path.substring(0, size > 1 ? size - 1 : size).to_text();
  }

  void scan_given() {
    scan(source_.source(), source_.name());
    for (const program_header& header : source_.headers()) scan(header.source, header.name);
  }

  void scan(string_ref contents, string_ref path) {
    const include_scan found(contents);
    const text folder = folder_of(path);
    own_folders_.insert(folder);
    const bool followed = found.for_each([&](include_name include) {
      const text name = include.name.to_text();
      if (given_.contains(name)) return;  // headers given as text come before all folders
      if (!include.quoted || !complete_) scan_own(name);
      text_builder key;
      if (include.quoted) key << folder;
      key << '\n' << name;
      if (seen_.insert(key.finish())) lookups_.push_back({name, folder, include.quoted});
    });
    const text name = path.to_text();
    if (!followed) because("", name, " asks by a macro whether a header is there");
    if (found.reads_clock()) because("", name, " has __DATE__, __TIME__ or __TIMESTAMP__");
  }

  /// Takes in a header of the library's own, of which nothing but the library's version decides.
  /// Returns whether there is one of that name.
  bool scan_own(const text& name) {
    const text source = library_header(name);
    if (!source.empty() && own_headers_.insert(name)) scan(source, name);
    return !source.empty();
  }

  /// Takes in a file that was opened.
  void open(const text& path) {
    if (!files_.insert(path)) return;
    text contents;
    file_identity identity;
    if (!read_header(path, contents, identity)) {
      return because("header ", path, " went away while the program was compiled");
    }
    const place_state* before = before_.find(path);
    if (identity.changed >= before_.started.stamp ||
        (before != nullptr && !(before->identity == identity && before->contents == contents))) {
      return because("header ", path, " was written while the program was compiled");
    }
    out_->files.push_back({path, digest_of(contents)});
    seen_files_.push_back(identity);
    scan(contents, path);
  }

  /// Looks at one place. Returns whether the compiler opened what is there.
  bool place(const text& path) {
    if (files_.contains(path)) {
      explained_.insert(path);
      return true;
    }
    struct stat about{};
    const place_state* before = before_.find(path);
    if (::stat(path.c_str(), &about) != 0) {
      if (before != nullptr && before->there) {
        because("", path, " went away while the program was compiled");
      }
      note_absent(path);
      return false;
    }
    if (!complete_ && S_ISREG(about.st_mode)) {
      open(path);
      explained_.insert(path);
      return true;
    }
    if (nanoseconds(about.st_ctim) >= before_.started.stamp ||
        (before != nullptr && !before->there)) {
      because("", path, " was written while the program was compiled");
    }
    present_.insert(path);
    return false;
  }

  /// Notes the topmost folder that is not there, which stands for all in it.
  void note_absent(const text& path) {
    for (std::size_t i = 1; i < path.size(); ++i) {
      if (path.data()[i] == '/' && absent_.contains({path.data(), i})) return;
    }
    text top = path;
    for (std::size_t size = path.size(); size-- > 1;) {
      if (path.data()[size] != '/') continue;
      const text above(path.data(), size);
      if (is_there(above.c_str())) break;
      top = above;
    }
    absent_.insert(top);
  }

  /// Looks in all places where the compiler would, up to the one where it found the file.
  void look(const lookup& l) {
    if (l.name.c_str()[0] == '/') {
      place(l.name);
      return;
    }
    if (l.quoted) {
      if (place(join(l.own_folder, l.name))) return;
      // Then come the folders of the files that include this one, whichever these are.
      bool found = false;
      for (std::size_t i = 0; i < own_folders_.list().size(); ++i) {
        const text folder = own_folders_.list()[i];
        if (place(join(folder, l.name))) found = true;
      }
      if (found) return;
    }
    for (const text& folder : folders_) {
      if (place(join(folder, l.name))) return;
    }
  }

  /// A file that no directive explains was named by a macro or an option: any part of its path may
  /// be the name.
  void look_for_unexplained() {
    for (std::size_t i = 0; i < files_.list().size(); ++i) {
      const text path = files_.list()[i];
      if (!explained_.insert(path)) continue;
      const auto try_folder = [&](const text& folder) {
        if (!folder.empty() && (path.size() <= folder.size() ||
                                !(string_ref(path.data(), folder.size()) == string_ref(folder)))) {
          return;
        }
        const char* name = path.data() + folder.size();
        while (*name == '/' && !folder.empty()) ++name;
        for (const text& own : sequence<text>(own_folders_.list())) place(join(own, text(name)));
        for (const text& other : folders_) place(join(other, text(name)));
      };
      for (const text& folder : sequence<text>(own_folders_.list())) try_folder(folder);
      for (const text& folder : folders_) try_folder(folder);
    }
  }

  const program& source_;
  const sequence<text>& folders_;
  const places_before& before_;
  bool complete_ = true;
  cache_conditions* out_ = nullptr;
  text trouble_;
  text_set given_, own_headers_, own_folders_, seen_, files_, explained_, absent_, present_;
  sequence<lookup> lookups_;
  sequence<file_identity> seen_files_;
};
using condition_gatherer = basic_condition_gatherer<>;

}  // namespace gpu::detail
